"""Files around a generated model: builds, programs, and what they measure."""
