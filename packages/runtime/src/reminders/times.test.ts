// Times of reminders: daylight saving in both directions, moments, intervals, and what was missed.
import { expect, test } from 'vitest'
import type { Reminder } from '@baton/core/machine'
import { checkZone, findNext, formatMoment, listDue, readMoment, readRule } from './times.ts'

const at = (iso: string): number => Date.parse(iso)
const iso = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString().slice(0, 16) + 'Z'

async function times(cron: string, zone: string, fromIso: string): Promise<readonly (string | undefined)[]> {
  const rule = await readRule(cron, zone)
  const found: (string | undefined)[] = []
  let ms = at(fromIso)
  for (let count = 0; count < 3; count++) {
    ms = (await findNext(rule, ms, ms)) ?? Infinity
    found.push(iso(ms))
  }
  return found
}

/** An expression, its zone, the time before the first one, and the next three. */
type Case = [string, string, string, readonly string[]]

test.each<[string, ...Case]>([
  [
    '09:00 keeps its local time when summer begins',
    '0 9 * * *',
    'Europe/Berlin',
    '2027-03-26T12:00:00Z',
    ['2027-03-27T08:00Z', '2027-03-28T07:00Z', '2027-03-29T07:00Z'],
  ],
  [
    '09:00 keeps its local time when summer ends',
    '0 9 * * *',
    'Europe/Berlin',
    '2027-10-29T12:00:00Z',
    ['2027-10-30T07:00Z', '2027-10-31T08:00Z', '2027-11-01T08:00Z'],
  ],
  [
    'an hour that is left out comes when it ends',
    '30 2 * * *',
    'Europe/Berlin',
    '2027-03-27T12:00:00Z',
    ['2027-03-28T01:00Z', '2027-03-29T00:30Z', '2027-03-30T00:30Z'],
  ],
  [
    'an hour that comes twice counts once',
    '30 2 * * *',
    'Europe/Berlin',
    '2027-10-30T12:00:00Z',
    ['2027-10-31T00:30Z', '2027-11-01T01:30Z', '2027-11-02T01:30Z'],
  ],
  [
    'every hour comes in each hour, also in the one that comes twice',
    '0 * * * *',
    'Europe/Berlin',
    '2027-10-30T23:30:00Z',
    ['2027-10-31T00:00Z', '2027-10-31T01:00Z', '2027-10-31T02:00Z'],
  ],
  [
    'every hour passes over the one that is left out',
    '0 * * * *',
    'Europe/Berlin',
    '2027-03-28T00:30:00Z',
    ['2027-03-28T01:00Z', '2027-03-28T02:00Z', '2027-03-28T03:00Z'],
  ],
  [
    'a day that begins at one o’clock',
    '0 0 * * *',
    'America/Sao_Paulo',
    '2018-11-03T12:00:00Z',
    ['2018-11-04T03:00Z', '2018-11-05T02:00Z', '2018-11-06T02:00Z'],
  ],
  [
    'another hemisphere',
    '0 9 * * *',
    'Australia/Sydney',
    '2027-04-02T12:00:00Z',
    ['2027-04-02T22:00Z', '2027-04-03T23:00Z', '2027-04-04T23:00Z'],
  ],
  [
    'a zone without daylight saving',
    '0 9 * * *',
    'Asia/Tokyo',
    '2027-03-27T12:00:00Z',
    ['2027-03-28T00:00Z', '2027-03-29T00:00Z', '2027-03-30T00:00Z'],
  ],
  [
    'half an hour of daylight saving',
    '15 2 * * *',
    'Australia/Lord_Howe',
    '2027-10-01T16:00:00Z',
    ['2027-10-02T15:30Z', '2027-10-03T15:15Z', '2027-10-04T15:15Z'],
  ],
  [
    'working days',
    '0 9 * * 1-5',
    'UTC',
    '2027-01-01T10:00:00Z',
    ['2027-01-04T09:00Z', '2027-01-05T09:00Z', '2027-01-06T09:00Z'],
  ],
  [
    'the 31st is in seven months of the year',
    '0 0 31 * *',
    'UTC',
    '2027-01-31T01:00:00Z',
    ['2027-03-31T00:00Z', '2027-05-31T00:00Z', '2027-07-31T00:00Z'],
  ],
  [
    'the 29th of February',
    '0 0 29 2 *',
    'UTC',
    '2027-01-01T00:00:00Z',
    ['2028-02-29T00:00Z', '2032-02-29T00:00Z', '2036-02-29T00:00Z'],
  ],
])('%s', async (_, ...[cron, zone, from, expected]) => {
  expect(await times(cron, zone, from)).toEqual(expected)
})

test('an interval is counted from its beginning, so a late one moves none', async () => {
  const rule = await readRule(3_600_000, 'UTC')
  expect(iso(await findNext(rule, at('2027-01-01T00:00:00Z'), at('2027-01-01T00:00:00Z')))).toBe('2027-01-01T01:00Z')
  expect(iso(await findNext(rule, at('2027-01-01T00:00:00Z'), at('2027-01-01T05:17:00Z')))).toBe('2027-01-01T06:00Z')
  expect(iso(await findNext(rule, at('2027-01-01T00:00:00Z'), at('2026-12-31T05:17:00Z')))).toBe('2027-01-01T01:00Z')
})

test.each<[unknown, string, string]>([
  ['2027-06-01T09:00', 'Europe/Berlin', '2027-06-01T07:00Z'],
  ['2027-12-01T09:00:00', 'Europe/Berlin', '2027-12-01T08:00Z'],
  ['2027-06-01T09:00:00Z', 'Europe/Berlin', '2027-06-01T09:00Z'],
  ['2027-06-01T09:00+05:30', 'UTC', '2027-06-01T03:30Z'],
  ['2027-03-28T02:30', 'Europe/Berlin', '2027-03-28T01:30Z'],
  ['2027-10-31T02:30', 'Europe/Berlin', '2027-10-31T00:30Z'],
  [new Date('2027-06-01T09:00:00Z'), 'Europe/Berlin', '2027-06-01T09:00Z'],
  [at('2027-06-01T09:00:00Z'), 'UTC', '2027-06-01T09:00Z'],
])('the moment %s in %s', async (given, zone, expected) => {
  expect(iso(await readMoment(given, zone))).toBe(expected)
})

test.each([
  ['tomorrow'],
  ['2027-06-01'],
  ['2027-13-01T09:00'],
  ['2027-02-30T09:00'],
  [''],
  [NaN],
  [Infinity],
  [9e15],
  [null],
  [{}],
  [new Date(NaN)],
])('the moment %s is refused', async (given) => {
  await expect(readMoment(given, 'UTC')).rejects.toMatchObject({ code: 'invalid_event' })
})

test.each([
  ['* * * * * *'],
  ['60 * * * *'],
  ['x'],
  [''],
  ['0 9 * *'],
  ['0 9 * * * 2027'],
  ['x'.repeat(201)],
  [59_999],
  [0],
  [-1],
  [60_000.5],
  [NaN],
  [null],
  [{}],
])('the rule %s is refused', async (given) => {
  await expect(readRule(given, 'UTC')).rejects.toMatchObject({ code: 'invalid_event' })
})

test('a zone that is none is refused', () => {
  expect(checkZone('Europe/Berlin')).toBe('Europe/Berlin')
  expect(() => checkZone('Mars/Olympus')).toThrow('there is no time zone "Mars/Olympus"')
})

test('a moment is told in its zone', () => {
  expect(formatMoment(at('2026-12-24T08:00:00Z'), 'Europe/Berlin')).toBe('2026-12-24 09:00 Europe/Berlin')
})

const reminder = (more: Partial<Reminder>): Reminder => ({
  reminder: 'tea',
  dueMs: 0,
  zone: 'UTC',
  event: { name: 'due' },
  ...more,
})

test('of times that passed meanwhile one comes, told as late, and the next is to come', async () => {
  const dueMs = at('2027-01-01T09:00:00Z')
  const daily = reminder({ dueMs, rule: { cron: '0 9 * * *', zone: 'UTC' } })
  const [due, ...others] = await listDue({ reminders: [daily] }, at('2027-01-04T11:30:00Z'))
  expect(others).toEqual([])
  expect(due).toMatchObject({
    dueMs,
    nextMs: at('2027-01-05T09:00:00Z'),
    told: { due: '2027-01-01 09:00 UTC', late: '3 d 2 h 30 min' },
  })
})

test('a minute is not late, and what is to come is not due', async () => {
  const dueMs = at('2027-01-01T09:00:00Z')
  const [due] = await listDue({ reminders: [reminder({ dueMs })] }, dueMs + 59_999)
  expect(due?.told).toEqual({ due: '2027-01-01 09:00 UTC' })
  expect(due).not.toHaveProperty('nextMs')
  expect(await listDue({ reminders: [reminder({ dueMs })] }, dueMs - 1)).toEqual([])
})

test('what is due comes in the order of its times', async () => {
  const reminders = [reminder({ reminder: 'b', dueMs: 20 }), reminder({ reminder: 'a', dueMs: 10 })]
  expect((await listDue({ reminders }, 100)).map((one) => one.reminder)).toEqual(['a', 'b'])
})

test('a rule that this platform cannot read comes no more', async () => {
  const foreign = reminder({ dueMs: 10, rule: { cron: '0 9 * * *', zone: 'Mars/Olympus' }, zone: 'Mars/Olympus' })
  expect(await listDue({ reminders: [foreign] }, 100)).toEqual([
    { type: 'reminder-due', reminder: 'tea', dueMs: 10, told: { due: '1970-01-01T00:00:00.010Z' } },
  ])
})

test.each([
  ['1h', '5 fields are needed, not 1'],
  ['', '5 fields are needed, not 0'],
  ['0 0 9 * * 1', '5 fields are needed, not 6'],
  ['60 * * * *', 'Invalid value for minute: 60'],
])('the cron expression "%s" is told why it cannot be read', async (rule, why) => {
  await expect(readRule(rule, 'UTC')).rejects.toMatchObject({
    message: expect.stringContaining(why) as string,
    hint: 'Write minute, hour, day, month and weekday, such as "0 9 * * 1-5"; for an interval, milliseconds.',
  })
})

test.each([
  ['@hourly', '2027-01-05T11:00Z'],
  ['@daily', '2027-01-06T00:00Z'],
  ['@weekly', '2027-01-10T00:00Z'],
  ['@monthly', '2027-02-01T00:00Z'],
  ['@yearly', '2028-01-01T00:00Z'],
])('%s is a rule', async (rule, next) => {
  const from = at('2027-01-05T10:30:00Z')
  expect(iso(await findNext(await readRule(rule, 'UTC'), from, from))).toBe(next)
})
