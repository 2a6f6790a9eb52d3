"""Why devices were idle: the causes of idle time, and the lines of Python that it is charged to."""
