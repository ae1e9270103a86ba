"""What serving engines allocate and print, each by its own rules and option names."""
