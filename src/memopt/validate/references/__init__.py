"""A file per runtime that answers for a model's file: SUFFIX, of the files that it reads, and
`run(job)`, which a process of its own calls, as a runtime may abort at a model that it dislikes."""
