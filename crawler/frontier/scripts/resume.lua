-- RESUME: a paused scope goes on. ARGV 5 scope. Returns 1, 0 = it was not paused.
local scope = ARGV[5]
local record = call('HGET', PAUSED, scope)
if not record then return 0 end
call('HDEL', LIMITED, scope)
resume(scope, record)
save()
return 1
