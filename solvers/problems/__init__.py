"""Problems as numbers, each with `check()` before it is solved and answers with `verify()`."""
