"""The stampede: a concurrency test over real HTTP, which keeps a journal of every answer and judges it by the books."""
