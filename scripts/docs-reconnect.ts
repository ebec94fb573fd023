// Draws the animation in docs/client-tools.md: a phone, a server, and the connection between them, which breaks while
// the phone runs a tool. Every line appears at the time when the real parts reported it.
import type { Moment } from './reconnected-call.ts'
import { playReconnectedCall } from './reconnected-call.ts'

/** Plays the conversation and draws it. The result is always the same text. */
export async function drawReconnect(): Promise<string> {
  const moments = await playReconnectedCall()
  const lines = [...placeLines(moments, 'phone'), ...placeLines(moments, 'server')]
  const lost = moments.find(({ where, text }) => where === 'connection' && text !== 'open')?.atMs ?? 0
  const back = moments.find(({ where, text }) => where === 'connection' && text === 'open')?.atMs ?? END_MS
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH_PX} ${HEIGHT_PX}" font-family="system-ui, sans-serif" font-size="13" role="img">`,
    '  <title>A phone runs a tool, loses its connection, comes back, and the result settles the call</title>',
    '  <style>',
    STYLE,
    ...lines.map(({ atMs }, index) => `    ${writeKeyframes(`line-${index}`, [[atMs, END_MS]])}`),
    `    ${writeKeyframes('lost', [[lost, back]])}`,
    `    ${writeKeyframes('open', [
      [0, lost],
      [back, END_MS],
    ])}`,
    '    @media (prefers-reduced-motion: reduce) { .at { animation: none !important } .lost { opacity: 0 } }',
    '  </style>',
    `  <rect width="${WIDTH_PX}" height="${HEIGHT_PX}" fill="#f8fafc" rx="10" />`,
    ...FRAME,
    ...drawConnection(),
    ...lines.flatMap(drawLine),
    '</svg>',
    '',
  ].join('\n')
}

/** Milliseconds of the run that one round of the animation shows. */
const END_MS = 7500
const WIDTH_PX = 760
const HEIGHT_PX = 240
const PHONE_PX = { x: 20, width: 260 } as const
const SERVER_PX = { x: 520, width: 220 } as const
const FIRST_LINE_PX = 66
const LINE_PX = 38
const STYLE = `    .box { fill: #ffffff; stroke: #475569; stroke-width: 1.5 }
    .name { font-weight: 600; fill: #0f172a }
    .note { fill: #475569; font-size: 12px }
    .at { animation-duration: ${END_MS / 1000}s; animation-iteration-count: infinite; animation-timing-function: step-end }
    .user { fill: #e0e7ff } .answer { fill: #d1fae5 } .work { fill: #f1f5f9 }
    .ok { stroke: #0d9488; fill: #0d9488 } .lost { stroke: #dc2626; fill: #dc2626 }`

const FRAME: readonly string[] = [
  drawBox(PHONE_PX, 'phone: @baton/client'),
  drawBox(SERVER_PX, 'server: the call in its log'),
]

function drawBox({ x, width }: { readonly x: number; readonly width: number }, name: string): string {
  const box = `<rect class="box" x="${x}" y="20" width="${width}" height="${HEIGHT_PX - 40}" rx="10" />`
  return `  ${box}<text class="name" x="${x + 14}" y="46">${name}</text>`
}

function drawConnection(): readonly string[] {
  const from = PHONE_PX.x + PHONE_PX.width + 10
  const to = SERVER_PX.x - 10
  const middle = (from + to) / 2
  const draw = (state: 'ok' | 'lost', frames: string, dash: string, label: string): string =>
    `  <g class="at ${state}" style="animation-name: ${frames}">` +
    `<line x1="${from}" x2="${to}" y1="120" y2="120" stroke-width="3"${dash} />` +
    `<text x="${middle}" y="108" text-anchor="middle" stroke="none" font-size="12">${label}</text></g>`
  return [draw('ok', 'open', '', 'WebSocket'), draw('lost', 'lost', ' stroke-dasharray="4 8"', 'no connection')]
}

interface Line extends Moment {
  readonly row: number
  readonly kind: 'user' | 'answer' | 'work'
}

function placeLines(moments: readonly Moment[], where: 'phone' | 'server'): readonly Line[] {
  const here = moments.filter((moment) => moment.where === where)
  return here.map((moment, row) => {
    const isEdge = where === 'phone' && (row === 0 || row === here.length - 1)
    return { ...moment, row, kind: !isEdge ? 'work' : row === 0 ? 'user' : 'answer' }
  })
}

function drawLine({ where, row, kind, text, atMs }: Line, index: number): readonly string[] {
  const { x, width } = where === 'phone' ? PHONE_PX : SERVER_PX
  const y = FIRST_LINE_PX + row * LINE_PX
  const seconds = `${(atMs / 1000).toFixed(1)} s`
  return [
    `  <g class="at" style="animation-name: line-${index}">` +
      `<rect class="${kind}" x="${x + 10}" y="${y}" width="${width - 20}" height="30" rx="6" />` +
      `<text class="note" x="${x + 20}" y="${y + 20}">${escape(text)}</text>` +
      `<text class="note" x="${x + width - 16}" y="${y + 20}" text-anchor="end">${seconds}</text></g>`,
  ]
}

/** Visible from the first to the second time of each span. */
function writeKeyframes(name: string, spans: readonly (readonly [number, number])[]): string {
  const percent = (ms: number): string => `${Math.round((ms / END_MS) * 10_000) / 100}%`
  const steps = spans.flatMap(([from, to]) => [
    `${percent(from)} { opacity: 1 }`,
    ...(to < END_MS ? [`${percent(to)} { opacity: 0 }`] : []),
  ])
  const first = spans[0]?.[0] === 0 ? '' : '0% { opacity: 0 } '
  return `@keyframes ${name} { ${first}${steps.join(' ')} 100% { opacity: ${(spans.at(-1)?.[1] ?? 0) < END_MS ? 0 : 1} } }`
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
