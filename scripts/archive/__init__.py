"""The shell around the records: files, hashes, schema, redaction and the archive's folders."""
