"""A profiler's database as the event table that a trace_view.json gives: nothing after it knows which it was.

The modules are the tables: `device` those of msprof, `host` those of the framework and of CANN, `counters`
what is counted over time; `arrows` joins them, and `source` is the opened file.
"""
