"""KV-cache capacity: from a model's layers to what an engine allocates and prints."""
