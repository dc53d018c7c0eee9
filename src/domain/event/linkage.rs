//! Which issues a pull request delivers: branch hint and closing keywords.
