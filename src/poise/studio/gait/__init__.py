"""The scene Human beside its simulation: trials are fitted in a process of their own, and what came of them is played.

    page  -- file -->  Desk  -- Order -->  a process: read, fit, reproduce  -- Exhibit -->  GaitPlayback  -->  view

>>> desk = Desk(say, show, values)
>>> desk.upload("trial", "walk.c3d", data)
''
"""
