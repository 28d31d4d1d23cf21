-- The order of a scope's links by what they promise, and barren ground; stands in front of put, lease, ack and requeue.
-- A link that may be ordered says its shape, its parent's, its mark, its run and its depth (member.py). The run: how many
-- pages in a row on the way to it led to no new page of a kind that has text.
-- z:<scope> LIST of parked members, barren HASH scope -> how many; st.bound, st.explore: the crawl's settings.
local BARREN, LOOKED_AT, REFILL, SIFT = P .. 'barren', 512, 64, 16
local function parked_of(scope) return P .. 'z:' .. scope end
local bound, scored
local function read_settings()
  if bound then return end
  local found = call('HMGET', ST, 'bound', 'scored')
  bound, scored = num(found[1] or 0), num(found[2] or 0)
end
local function bound_of()
  read_settings()
  return bound
end
local function weight_of_scores()
  read_settings()
  return scored
end
local function facts_of(member)
  if byte(member, KIND_AT) < 58 then member = select(3, split(member)) end
  if byte(member, KIND_AT) ~= LINK then return nil end
  local shape, parent, mark, run, depth = match(member, FACTS, SHAPE_AT)
  return num(depth), shape, parent, num(mark), num(run)
end
-- The shape of a member, without the pattern that most members can do without; nil where nothing may order it.
local function shape_in(member)
  if byte(member, KIND_AT) == LINK then return sub(member, SHAPE_AT, SHAPE_TO) end
  local _, shape = facts_of(member)
  return shape
end
-- Four letters that stand for the page on which a link stands.
local function source_in(member)
  if byte(member, KIND_AT) ~= LINK then member = select(3, split(member)) end
  return sub(member, SOURCE_AT, SHAPE_AT - 1)
end
local function with_new_run(member) return sub(member, 1, RUN_AT - 1) .. '0' .. sub(member, RUN_AT + 1) end
-- New links of one call, each with the run that its page gave it: where a page also leads to one of a kind that has text,
-- its run begins anew for all of them. Pages of one shape and run in one call are not told apart. Returns the parents and
-- runs of such pages, nil where there are none.
local function begin_runs(view, list)
  local rich = {}
  for at = 1, #list, 2 do
    local _, shape, parent, _, run = facts_of(list[at + 1])
    local row = shape and view.rows[shape]
    if row and row.kept > 0 then rich[parent .. run] = true end
  end
  if not next(rich) then return nil end
  for at = 1, #list, 2 do
    local member = list[at + 1]
    local _, _, parent, _, run = facts_of(member)
    if parent and rich[parent .. run] then list[at + 1] = with_new_run(member) end
  end
  return rich
end

local views = {}  -- scope -> what is known of it; only as long as nobody else writes
local function view_of(scope, members, step)  -- step 2: a priority stands in front of each member
  local view = views[scope]
  if not view then
    view = {rows = {}, focus = {}}
    views[scope] = view
    view.sums = sums_of(call('HGET', table_of(scope), WHOLE))
    view.known = view.sums[1] > 0
  end
  if not view.known then return view end
  local names, asked = {}, {}
  for at = step or 1, #members, step or 1 do
    local shape = shape_in(members[at])
    if shape and not view.rows[shape] and not asked[shape] then names[#names + 1], asked[shape] = shape, true end
  end
  local found
  if #names > 0 then
    names[#names + 1] = OTHER
    found = call('HMGET', table_of(scope), unpack(names))
    local other = found[#names]
    for i = 1, #names - 1 do
      if found[i] or not other then view.rows[names[i]] = row_of(found[i]) else view.rows[names[i]] = row_of(other) end
      view.rows[names[i]].name = (found[i] or not other) and names[i] or OTHER
    end
  end
  if weight_of_scores() > 0 then
    local fields, asked_of = {WHOLE}, {}
    for at = step or 1, #members, step or 1 do
      local shape = shape_in(members[at])
      for _, name in ipairs(shape and {view.rows[shape].name, source_in(members[at])} or {}) do
        if not view.focus[name] and not asked_of[name] then fields[#fields + 1], asked_of[name] = name, true end
      end
    end
    found = call('HMGET', focus.key(scope), unpack(fields))
    view.scores = found[1] and focus.sums(found[1])
    for i = 2, #fields do view.focus[fields[i]] = focus.row(found[i]) end
  end
  return view
end
local function points_of(view, member, row)
  if not view.scores then return 0 end
  local shape, page = view.focus[row.name], view.focus[source_in(member)]
  return focus.points(view.scores, weight_of_scores(), shape, page, row.kept > 0)
end
local UNKNOWN = row_of(nil)
-- Priority of a link of this scope; nil where nothing may order it, false where its kind is parked.
local function rank(view, member)
  local depth, shape, _, mark, run = facts_of(member)
  if not depth then return nil end
  local row, limit = view.rows[shape] or UNKNOWN, bound_of()
  if limit > 0 and (row.streak >= limit_of(row, limit) or view.sums[2] >= 2 * limit) then return false end
  local known = row.fetched + row.led_n > 0 and row.class  -- all links of a shape by the same value
  local class = known or class_of(worth(row, promise(view.sums, view.scores, depth, mark)))
  local prior = PATIENCE / (PATIENCE + row.fetched)  -- place and depth say less the better the shape is known
  local place = RUN * run + prior * (MARK * mark + LEVEL * math.min(depth, 32))
  return math.max(-4096, math.floor(LINKS + class + points_of(view, member, row) - place))
end
-- Links that wait already and stand on such a page, too, are as near to text as its new ones: their run begins anew. Not
-- those of a shape that has text itself: they need no way to it.
local function only_leads(view, member)
  local shape = shape_in(member)
  return shape and (view.rows[shape] or UNKNOWN).kept == 0
end
local function url_in(member) return match(member, URL, DEPTH_AT) end
local function standing_on(view, rich, again)
  local urls = {}
  for _, member in ipairs(again) do
    local _, _, parent, _, run = facts_of(member)
    if parent and rich[parent .. run] and only_leads(view, member) then urls[url_in(member) or ''] = true end
  end
  return urls
end
local function come_nearer(scope, view, rich, again)
  view_of(scope, again)
  local urls = standing_on(view, rich, again)
  local found, moved, gone = next(urls) and call('ZRANGE', queue(scope), 0, LOOKED_AT - 1, 'WITHSCORES') or {}, {}, {}
  for at = 1, #found, 2 do
    local member = found[at]
    local has_run = byte(member, KIND_AT) == LINK and byte(member, RUN_AT) > 48  -- '0'
    if has_run and urls[url_in(member)] and only_leads(view, member) then
      local nearer = with_new_run(member)
      gone[#gone + 1] = member
      moved[#moved + 1] = num(found[at + 1]) % PRIORITY - (rank(view_of(scope, {nearer}), nearer) or -4096) * PRIORITY
      moved[#moved + 1] = nearer
    end
  end
  if #gone == 0 then return end
  call('ZREM', queue(scope), unpack(gone))
  call('ZADD', queue(scope), unpack(moved))
end
local function set_aside(scope, view, members)
  for at = 1, #members, 500 do call('RPUSH', parked_of(scope), unpack(members, at, math.min(at + 499, #members))) end
  count('queued', -#members)
  count('barren', #members)
  call('HINCRBY', BARREN, scope, #members)
  local sums = {}
  for _, member in ipairs(members) do
    local shape = shape_in(member)
    local name = (view.rows[shape] or UNKNOWN).name or shape
    sums[name] = (sums[name] or 0) + 1
  end
  for name, n in pairs(sums) do
    local row = row_of(call('HGET', table_of(scope), name))
    if row.new and name ~= OTHER and call('HLEN', table_of(scope)) > SHAPES / 2 then  -- the others are for what was asked
      name = OTHER
      row = row_of(call('HGET', table_of(scope), name))
    end
    row.parked = row.parked + n
    call('HSET', table_of(scope), name, packed(row))
  end
end

-- Entries of an overflow ("priority member"; priority v = by value) as scores and members; what is barren goes aside,
-- unless `all` is to go in.
local function ordered(scope, entries, all)
  local members, priorities = {}, {}
  for k, entry in ipairs(entries) do priorities[k], members[k] = match(entry, '^(%S+) (.*)$') end
  local view, placed, aside = view_of(scope, members), {}, {}
  local sequence = #entries > 0 and call('HINCRBY', ST, 'sequence', #entries) - #entries or 0
  for k, member in ipairs(members) do
    local priority = num(priorities[k])
    if not priority then priority = rank(view, member) end
    if priority == false and not all then
      aside[#aside + 1] = member
    else
      placed[#placed + 1] = sequence + k - (priority or LINKS) * PRIORITY
      placed[#placed + 1] = member
    end
  end
  if #aside > 0 then set_aside(scope, view, aside) end
  return placed
end
-- The next URLs of an overflow, behind everything that was queued before them with their priority. Returns how many are
-- left there. What is barren goes aside, up to a hundred times as many as fit; the server answers nobody else meanwhile.
local function refill(scope, spilled)
  local rounds, placed = 0, {}
  while spilled > 0 and #placed == 0 do
    local entries = call('LPOP', overflow(scope), REFILL) or {}
    if #entries == 0 then return 0 end
    rounds, spilled = rounds + 1, spilled - #entries
    placed = ordered(scope, entries, rounds > 100)
  end
  if #placed > 0 then call('ZADD', queue(scope), unpack(placed)) end
  return spilled
end
-- An entry of the overflow for a member that had this score.
local function as_spilled(score, member)
  return (facts_of(member) and 'v' or integer(-math.floor(score / PRIORITY))) .. ' ' .. member
end
-- Scores and members enter a queue that is to hold at most so many; the worst of both go to the end of the overflow. It
-- is never longer meanwhile: the server would give up its dense encoding for good. Returns how many are in the overflow.
local function place(scope, placed, limit, spilled)
  local surplus = #placed == 0 and 0 or math.min(call('ZCARD', queue(scope)) + #placed / 2 - limit, #placed / 2)
  if surplus > 0 then
    local worst, pairs_, cold = call('ZPOPMAX', queue(scope), surplus), {}, {}
    for at = 1, #worst, 2 do pairs_[#pairs_ + 1] = {num(worst[at + 1]), worst[at]} end
    for at = 1, #placed, 2 do pairs_[#pairs_ + 1] = {placed[at], placed[at + 1]} end
    table.sort(pairs_, function(a, b) return a[1] < b[1] end)
    placed = {}
    for k, pair in ipairs(pairs_) do
      if k <= #pairs_ - surplus then
        placed[2 * k - 1], placed[2 * k] = pair[1], pair[2]
      else
        cold[#cold + 1] = as_spilled(pair[1], pair[2])
      end
    end
    call('RPUSH', overflow(scope), unpack(cold))
    spilled = spilled + #cold
  end
  if #placed > 0 then call('ZADD', queue(scope), unpack(placed)) end
  return spilled
end
-- What is in the queue promises little: some of the overflow may promise more. What does not goes back at once: to take a
-- URL into a full queue and another one out costs a walk through the queue each.
local function sift(scope, spilled)
  local entries = call('LPOP', overflow(scope), SIFT) or {}
  if #entries == 0 then return spilled end
  local placed, queued = ordered(scope, entries, false), call('ZCARD', queue(scope))
  local worst = queued >= REFILL and num(call('ZRANGE', queue(scope), -1, -1, 'WITHSCORES')[2]) or math.huge
  local better, cold = {}, {}
  for at = 1, #placed, 2 do
    if placed[at] < worst then
      better[#better + 1], better[#better + 2] = placed[at], placed[at + 1]
    else
      cold[#cold + 1] = as_spilled(placed[at], placed[at + 1])
    end
  end
  if #cold > 0 then call('RPUSH', overflow(scope), unpack(cold)) end
  return place(scope, better, math.max(queued, REFILL), spilled - #entries + #cold)
end
-- Shapes or sources have become better or worse ('*': any): their URLs in the queue take new places, or go aside. A queue
-- has many members and few of them are meant, so they are told apart by their letters before anything else is asked.
local function order_anew(scope, wanted)
  views[scope] = nil
  local found, members, scores = call('ZRANGE', queue(scope), 0, LOOKED_AT - 1, 'WITHSCORES'), {}, {}
  for at = 1, #found, 2 do
    local shape = shape_in(found[at])
    if shape and (wanted[OTHER] or wanted[shape] or wanted[source_in(found[at])]) then
      members[#members + 1], scores[#scores + 1] = found[at], found[at + 1]
    end
  end
  if #members == 0 then return end
  local view, moved, aside = view_of(scope, members), {}, {}
  for k, member in ipairs(members) do
    local priority = rank(view, member)
    if priority == false then
      aside[#aside + 1] = member
    else
      moved[#moved + 1] = num(scores[k]) % PRIORITY - priority * PRIORITY
      moved[#moved + 1] = member
    end
  end
  if #moved > 0 then call('ZADD', queue(scope), unpack(moved)) end
  if #aside > 0 then
    local s = state(scope)
    call('ZREM', queue(scope), unpack(aside))
    set_aside(scope, view, aside)
    if s.spilled > 0 and call('EXISTS', queue(scope)) == 0 then s.spilled = refill(scope, s.spilled) end
  end
end
-- Exploration: of the URLs at hand one of the shape that was asked least is next, as long as it was asked too seldom.
-- Of each shape the first URL stands for all: they have one row, so they are parked together. fetched is its first number.
local function explore(scope)
  views[scope] = nil
  local s = state(scope)
  if s.spilled > 0 then s.spilled = sift(scope, s.spilled) end
  local firsts, shapes = {}, {}
  for _, member in ipairs(call('ZRANGE', queue(scope), 0, LOOKED_AT - 1)) do
    local shape = shape_in(member)
    if shape and not firsts[shape] then firsts[shape], shapes[#shapes + 1] = member, shape end
  end
  if #shapes == 0 then return end
  local rows, best, least = call('HMGET', table_of(scope), OTHER, unpack(shapes)), nil, TRIES
  for k, shape in ipairs(shapes) do
    local row = rows[k + 1] or rows[1]
    local fetched, member = row and struct.unpack('>I4', row) or 0, firsts[shape]
    if fetched < least and rank(view_of(scope, {member}), member) then best, least = member, fetched end
    if least == 0 then break end
  end
  if best then call('ZADD', queue(scope), -(LINKS + 1500) * PRIORITY, best) end
end
