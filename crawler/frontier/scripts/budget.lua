-- BUDGET: how many more URLs a worker may be given, by what all workers and runs have spent. In shard 0.
-- ARGV 5 token of the process, behind what its leases bear and a dot where they bear something  6 life (ms): a worker that is silent for longer is dead  7 URLs in hand  8 wanted  9 run
-- 10 fetched 11 kept 12 bytes 13 money: what this process has spent since it began  14 bytes 15 money that one page may cost
-- 16.. limits of all runs, 21.. of this run: fetched, kept, bytes, ms, money; 0 = none  26 1 = the worker leaves
-- A call that runs twice adds nothing the second time: what a process has spent is told as a total.
-- Returns {granted, number of the limit that is reached (1 to 10; 0 = none)}.
local SPENT, SPENDERS, BEFORE = P .. 'spent', P .. 'spenders', P .. 'spent:before'
local NAMES = {'fetched', 'kept', 'bytes', 'ms', 'money'}
local token, life, hand, wanted, run = ARGV[5], num(ARGV[6]), num(ARGV[7]), num(ARGV[8]), ARGV[9]
local spent, known = {}, call('HMGET', SPENT, 'fetched', 'kept', 'bytes', 'ms', 'money', 'at', 'page_bytes', 'page_money')
for i = 1, 5 do spent[i] = num(known[i] or 0) end
local at, page_bytes, page_money = num(known[6] or now), num(known[7] or 0), num(known[8] or 0)

-- Leases of a process that it has not begun with: nothing was spent on them.
local function unbegun(bearer)
  local n, found = 0, call('ZRANGE', LEASES, 0, -1, 'WITHSCORES')
  for i = 1, #found, 2 do
    local nonce = match(found[i], '[^.]*$')
    if not is_begun(found[i + 1]) and sub(nonce, 1, #bearer) == bearer then n = n + 1 end
  end
  return n
end

-- Hours pass while somebody is at work; a worker that died took what it had in hand with it: that counts as spent.
local others, workers, alive, told = 0, 1, false, {0, 0, 0, 0}
local rows = call('HGETALL', SPENDERS)
for i = 1, #rows, 2 do
  local count, last, a, b, c, d = match(rows[i + 1], '^(%d+) (%d+) (%S+) (%S+) (%S+) (%S+)$')
  count, last = num(count), num(last)
  alive = alive or now - last <= life
  if rows[i] == token then
    told = {num(a), num(b), num(c), num(d)}
  elseif now - last > life then
    local bearer = match(rows[i], '^([^.]+)%.')
    if bearer then count = math.max(0, count - unbegun(bearer)) end
    spent[1], spent[2] = spent[1] + count, spent[2] + count
    spent[3], spent[5] = spent[3] + count * page_bytes, spent[5] + count * page_money
    call('HDEL', SPENDERS, rows[i])
  else
    others, workers = others + count, workers + 1
  end
end
if alive and now > at then spent[4] = spent[4] + now - at end
local new = {num(ARGV[10]) - told[1], num(ARGV[11]) - told[2], num(ARGV[12]) - told[3], num(ARGV[13]) - told[4]}
for i = 1, 4 do
  local place = i == 4 and 5 or i
  spent[place] = spent[place] + math.max(0, new[i])
end
if new[1] >= 1 then
  page_bytes, page_money = math.max(page_bytes, new[3] / new[1]), math.max(page_money, new[4] / new[1])
end

local granted, reached = wanted, 0
for reach = 0, 1 do
  for i = 1, 5 do
    local limit = num(ARGV[15 + 5 * reach + i])
    if reach == 1 and run ~= '' then
      local own = i ~= 4 and math.max(0, new[i == 5 and 4 or i]) or 0
      call('HSETNX', BEFORE, run .. '\t' .. NAMES[i], string.format('%.17g', spent[i] - own))
    end
    if limit > 0 then
      local before = reach == 1 and num(call('HGET', BEFORE, run .. '\t' .. NAMES[i]) or 0) or 0
      local left = limit - (spent[i] - before)
      if left <= 0 then
        granted = 0
        if reached == 0 then reached = 5 * reach + i end
      elseif i ~= 4 then
        local page = i == 3 and num(ARGV[14]) or i == 5 and num(ARGV[15]) or 1
        local room = page > 0 and math.floor(left / page) - others - hand or wanted
        -- Every worker may have one page under way; all that is under way exceeds what is left by a page a worker at most.
        if room < 1 and hand == 0 and (others + 1 - workers) * page <= left then room = 1 end
        granted = math.max(0, math.min(granted, room))
      end
    end
  end
end

local row = {}
for i = 1, 5 do row[#row + 1], row[#row + 2] = NAMES[i], string.format('%.17g', spent[i]) end
call('HSET', SPENT, 'at', integer(math.max(at, now)), 'page_bytes', string.format('%.17g', page_bytes),
     'page_money', string.format('%.17g', page_money), unpack(row))
if ARGV[26] == '1' then
  call('HDEL', SPENDERS, token)
else
  call('HSET', SPENDERS, token, integer(hand + granted) .. ' ' .. integer(now) .. ' ' .. table.concat({ARGV[10], ARGV[11], ARGV[12], ARGV[13]}, ' '))
end
return {granted, reached}
