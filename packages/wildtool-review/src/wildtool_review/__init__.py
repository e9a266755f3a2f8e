"""Reviews: people choose, correct and approve the items of a made set, and every decision can be traced.

- `log`: the append-only, hash-chained log; everything else follows from it.
- `formats`: what an item of each data format holds, and the rules that check it.
- `history`, `state`: one item with all its versions, and the summary of all items.
- `project`: what people do, as operations on a store.
- `store`: where the log is kept: a SQLite file, or PostgreSQL.
- `rounds`, `agreement`, `release`: samples, figures and the data file that comes out.
- `drafts`: real conversations as drafts of sessions; `regenerate`: stale tasks and results made again by models.
- `replies`: recorded replies, judged again after edits; `server`: the pages in the browser.
"""

__version__ = "0.3.0"
