"""One module a result format: ``FORMAT``, ``claims(source)`` and ``read(source)``."""
