"""What tests share: nothing here is a test, and no test imports another one."""
