"""What the operating system did with the threads of the host, and whose fault idle time is then."""
