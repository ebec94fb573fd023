// Durations, moments, tokens and money as people read them.

/** `340 ms`, `12 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  const most = Math.max(0, ms)
  if (most < 1000) return `${Math.floor(most)} ms`
  if (most < 10_000) return `${(Math.floor(most / 100) / 10).toString()} s`
  const seconds = Math.floor(most / 1000)
  if (seconds < 60) return `${seconds} s`
  const parts: readonly (readonly [string, number])[] = [
    ['d', Math.floor(seconds / 86_400)],
    ['h', Math.floor(seconds / 3600) % 24],
    ['min', Math.floor(seconds / 60) % 60],
    ['s', seconds % 60],
  ]
  const first = parts.findIndex(([, count]) => count > 0)
  return parts
    .slice(first, first + 2)
    .filter(([, count]) => count > 0)
    .map(([unit, count]) => `${count} ${unit}`)
    .join(' ')
}

/** The time of the day, with milliseconds if asked. */
export function formatTime(ms: number, withMs = false): string {
  const at = new Date(ms)
  const two = (value: number): string => String(value).padStart(2, '0')
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')
  return withMs ? `${clock}.${String(at.getMilliseconds()).padStart(3, '0')}` : clock
}

export function formatDay(ms: number): string {
  const at = new Date(ms)
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
}

/** The time of the day; on another day than today the date with it: `2026-11-26 22:39:21`. */
export function formatMoment(ms: number, todayMs: number, withMs = false): string {
  const day = formatDay(ms) === formatDay(todayMs) ? '' : `${formatDay(ms)} `
  return `${day}${formatTime(ms, withMs)}`
}

/** As short as fits into a row: `22:39:21`, and `11-26 22:39` on another day than today. */
export function formatShortMoment(ms: number, todayMs: number): string {
  const moment = formatMoment(ms, todayMs)
  return moment.includes(' ') ? moment.slice(5, 16) : moment
}

/** `12 s ago`; from a day on the date. */
export function formatAgo(ms: number, nowMs: number): string {
  const gone = nowMs - ms
  if (gone < 1000) return 'now'
  if (gone > 86_400_000) return `${formatDay(ms)} ${formatTime(ms).slice(0, 5)}`
  return `${formatDuration(gone).split(' ').slice(0, 2).join(' ')} ago`
}

/** A generated name without its middle. */
export function shortName(name: string): string {
  return name.length <= 24 ? name : `${name.slice(0, 13)}…${name.slice(-4)}`
}

/** `1,240` or `3.4 M`. */
export function formatCount(count: number): string {
  if (count >= 10_000_000) return `${Math.round(count / 1_000_000)} M`
  if (count >= 1_000_000) return `${Math.round(count / 100_000) / 10} M`
  return String(Math.round(count)).replaceAll(/\B(?=(\d{3})+$)/g, ',')
}

/** Millionths of a US dollar. */
export function formatCost(micros: number | undefined): string {
  if (micros === undefined) return '–'
  const dollars = micros / 1_000_000
  if (dollars === 0) return '$0'
  return dollars < 0.01 ? `$${dollars.toFixed(6).replace(/0+$/, '')}` : `$${dollars.toFixed(dollars < 1 ? 4 : 2)}`
}
