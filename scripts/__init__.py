"""Programs around the calculators: the site, the archive, truth, benches."""
