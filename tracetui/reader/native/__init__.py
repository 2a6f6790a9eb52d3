"""What is compiled where there is a C compiler: a scanner of events. Everything works without it."""
