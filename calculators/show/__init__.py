"""What a result can contain, and how it is shown: HTML, SVG, text, JSON, CSV."""
