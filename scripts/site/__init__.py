"""Everything between the sources and the folder that is served."""
