"""A planned network beside a reference runtime, on the user's own data: `memopt validate`."""
