"""One engine each: from a case's inputs to every figure that they allow."""
