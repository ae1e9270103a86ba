"""Forms as data: fields, parsing, errors and addresses. Knows no calculator and no page."""
