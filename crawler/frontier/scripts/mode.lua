-- MODE: pause, resume or drain the crawl. ARGV 5 mode
call('HSET', ST, 'mode', ARGV[5])
return 1
