"""``ksupport app``: a page on one's own machine, for people who do not type commands.

The page is made with Shiny for Python.  It was compared with Streamlit: both import in about a
second; Shiny is an ASGI application whose sessions say when they begin and end, so that one gate
guards every request and nothing outlives the page, and a click runs one function and not the whole
script.

Two kinds of processes: one server, which knows the page and no data, and for each open page one
worker (`worker`), which reads files, fits and predicts, and ends with the page.
"""
