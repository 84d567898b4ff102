"""Judge predictions against golds by two protocols: the published one to the letter, and a strict one."""
