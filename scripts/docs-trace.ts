// Draws the picture in docs/observability.md: the spans of a turn that a restart interrupts, like a trace viewer.
import { SpanStatusCode } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import type { RestartedTurn } from './restarted-turn.ts'
import { playRestartedTurn } from './restarted-turn.ts'

/** Plays the turn and draws it. The result is always the same text. */
export async function drawTrace(): Promise<string> {
  const turn = await playRestartedTurn()
  const rows = listRows(turn.spans)
  const endMs = Math.max(...rows.map(({ toMs }) => toMs))
  const scale: Scale = (ms) => NAMES_PX + round(((ms - turn.startMs) / (endMs - turn.startMs)) * BARS_PX)
  const height = TOP_PX + rows.length * ROW_PX + 16
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH_PX} ${height}" font-family="system-ui, sans-serif" font-size="12" role="img">`,
    '  <title>The spans of one turn with a client tool, an approval and a restart</title>',
    STYLE,
    `  <rect width="${WIDTH_PX}" height="${height}" fill="#f8fafc" rx="10" />`,
    ...drawDown(turn, scale, height),
    ...drawSeconds({ startMs: turn.startMs, endMs, height }, scale),
    ...rows.flatMap((row, index) => drawRow(row, TOP_PX + index * ROW_PX, scale)),
    '</svg>',
    '',
  ].join('\n')
}

type Scale = (ms: number) => number

interface Row {
  readonly span: ReadableSpan
  readonly depth: number
  readonly fromMs: number
  readonly toMs: number
}

const WIDTH_PX = 860
const NAMES_PX = 230
const BARS_PX = 520
const TOP_PX = 44
const ROW_PX = 22
const STYLE = `  <style>
    .name { fill: #0f172a }
    .note { fill: #475569; font-size: 11px }
    .grid { stroke: #e2e8f0 }
    .turn { fill: #1e293b } .step { fill: #94a3b8 } .chat { fill: #6366f1 }
    .tool { fill: #0d9488 } .wait { fill: #5eead4 } .approval { fill: #f59e0b } .failed { fill: #dc2626 }
    .down { fill: #fee2e2 }
  </style>`

/** Parents before their children, ordered by start time. */
function listRows(spans: readonly ReadableSpan[], parent?: string, depth = 0): readonly Row[] {
  return spans
    .filter((span) => span.parentSpanContext?.spanId === parent)
    .map((span) => ({ span, depth, fromMs: toMs(span.startTime), toMs: toMs(span.endTime) }))
    .toSorted((one, other) => one.fromMs - other.fromMs || one.span.name.localeCompare(other.span.name, 'en'))
    .flatMap((row) => [row, ...listRows(spans, row.span.spanContext().spanId, depth + 1)])
}

function toMs([seconds, nanoseconds]: ReadableSpan['startTime']): number {
  return seconds * 1000 + nanoseconds / 1e6
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10
}

function drawDown({ down }: RestartedTurn, scale: Scale, height: number): readonly string[] {
  const from = scale(down.fromMs)
  const width = round(scale(down.toMs) - from)
  return [
    `  <rect class="down" x="${from}" y="${TOP_PX - 8}" width="${width}" height="${height - TOP_PX}" />`,
    `  <text class="note" x="${round(from + width / 2)}" y="16" text-anchor="middle">no process runs</text>`,
  ]
}

interface Ruler {
  readonly startMs: number
  readonly endMs: number
  readonly height: number
}

function drawSeconds({ startMs, endMs, height }: Ruler, scale: Scale): readonly string[] {
  const seconds = Array.from({ length: Math.floor((endMs - startMs) / 1000) + 1 }, (_, second) => second)
  return seconds.flatMap((second) => {
    const x = scale(startMs + second * 1000)
    return [
      `  <line class="grid" x1="${x}" x2="${x}" y1="${TOP_PX - 8}" y2="${height - 8}" />`,
      `  <text class="note" x="${x}" y="30" text-anchor="middle">${second} s</text>`,
    ]
  })
}

/** Narrower bars are invisible. */
const BAR_PX_MIN = 2

function drawRow({ span, depth, fromMs, toMs: endMs }: Row, y: number, scale: Scale): readonly string[] {
  const outcome = span.attributes['baton.outcome']
  const x = scale(fromMs)
  const width = Math.max(BAR_PX_MIN, round(scale(endMs) - x))
  const isFailed = span.status.code === SpanStatusCode.ERROR
  return [
    `  <text class="name" x="${14 + depth * 14}" y="${y + 12}">${escape(span.name)}</text>`,
    `  <rect class="${isFailed ? 'failed' : chooseClass(span.name)}" x="${x}" y="${y + 2}" width="${width}" height="13" rx="2" />`,
    ...(typeof outcome === 'string'
      ? [`  <text class="note" x="${round(x + width + 6)}" y="${y + 12}">${escape(outcome)}</text>`]
      : []),
  ]
}

const CLASSES: Readonly<Record<string, string>> = {
  invoke_agent: 'turn',
  step: 'step',
  chat: 'chat',
  execute_tool: 'tool',
  wait: 'wait',
  approval: 'approval',
}

function chooseClass(name: string): string {
  return CLASSES[name.split(' ')[0] ?? ''] ?? 'step'
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
