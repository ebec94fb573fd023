// The typed summary of an exploration: statistics, and the model's last accepted report with the calls that support it,
// all read from the session's own messages.
import type { AssistantChatMessage, ChatMessage, JsonValue, Session } from '@baton/core/internal'
import { parseJson } from '@baton/core/internal'
import type { Evidence } from './evidence.ts'
import { ShownResults } from './evidence.ts'
import type { OverviewOptions } from './overview.ts'
import { readOverview } from './overview.ts'
import type { Report } from './report-tool.ts'
import { REPORT_TOOL, report } from './report-tool.ts'

/** A statement with the calls that support it. */
export interface Cited {
  readonly text: string
  readonly evidence: readonly Evidence[]
}

/** Findings of an exploration, with the calls that support each statement. */
export interface ExplorationSummary {
  readonly name: string
  readonly languages: readonly { readonly language: string; readonly files: number; readonly lines: number }[]
  readonly entryPoints: readonly string[]
  /**
   * Files shown by the exploration's calls, most frequent first, followed by the longest other files, for which `calls`
   * is 0.
   */
  readonly topFiles: readonly { readonly path: string; readonly calls: number; readonly lines?: number }[]
  /** Findings in the report of the latest answer; empty if no report was accepted. */
  readonly findings: readonly Cited[]
  readonly followUps: readonly Cited[]
  readonly citations: { readonly accepted: number; readonly refused: number }
  /** True if the workspace is too large to be counted in full. */
  readonly truncated: boolean
}

const TOP_FILES = 10
/** Maximum pages of 200 messages. */
const PAGES_MAX = 100

/**
 * Reads the session's messages and counts the workspace.
 * @throws BatonError `invalid_option` if `root` is not a folder; any error of `session.messages`
 */
export async function readExploration(
  session: Pick<Session, 'messages'>,
  options: OverviewOptions,
): Promise<ExplorationSummary> {
  const shown = new ShownResults()
  let newest: Reported = { accepted: undefined, citations: { accepted: 0, refused: 0 } }
  for (const message of await readMessages(session))
    if (message.role === 'assistant') newest = readReport(message, shown)
  const { linesOf, ...overview } = await readOverview(options)
  const resolve = (all: Report['findings'] = []): readonly Cited[] =>
    all.map(({ text, evidence }) => ({ text, evidence: evidence.flatMap((one) => shown.find(one) ?? []) }))
  return {
    ...overview,
    topFiles: listTopFiles(shown, linesOf),
    findings: resolve(newest.accepted?.findings),
    followUps: resolve(newest.accepted?.followUps),
    citations: newest.citations,
  }
}

interface Reported {
  readonly accepted: Report | undefined
  readonly citations: ExplorationSummary['citations']
}

/** Adds what the calls of an answer showed, and returns its last accepted report. */
function readReport(message: AssistantChatMessage, shown: ShownResults): Reported {
  let accepted: Report | undefined
  const citations = { accepted: 0, refused: 0 }
  for (const { callId, name, input, result } of message.steps.flatMap(({ calls }) => calls)) {
    if (name !== REPORT_TOOL) {
      if (result?.type === 'ok') shown.add(callId, name, readValue(result))
      continue
    }
    const given = report.safeParse(input)
    if (!given.success) continue
    const isAccepted = result?.type === 'ok'
    const cited = [...given.data.findings, ...given.data.followUps].flatMap(({ evidence }) => evidence)
    const refused = isAccepted ? 0 : cited.filter((one) => !shown.find(one)).length
    citations.accepted += cited.length - refused
    citations.refused += refused
    if (isAccepted) accepted = given.data
  }
  return { accepted, citations }
}

async function readMessages(session: Pick<Session, 'messages'>): Promise<readonly ChatMessage[]> {
  let all: readonly ChatMessage[] = []
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const [oldest] = all
    const { messages, more } = await session.messages({ limit: 200, ...(oldest && { before: oldest.id }) })
    all = [...messages, ...all]
    if (!more || messages.length === 0) break
  }
  return all
}

function readValue({ value, content }: { readonly value?: JsonValue; readonly content: readonly object[] }): JsonValue {
  if (value !== undefined) return value
  const text = content.map((part) => ('text' in part && typeof part.text === 'string' ? part.text : '')).join('')
  const parsed = parseJson(text)
  return parsed.ok ? parsed.value : null
}

function listTopFiles(shown: ShownResults, linesOf: ReadonlyMap<string, number>): ExplorationSummary['topFiles'] {
  const counted = shown.countPaths().filter(([path]) => linesOf.has(path))
  const known = new Set(counted.map(([path]) => path))
  const longest = [...linesOf].filter(([path]) => !known.has(path)).toSorted(([, one], [, other]) => other - one)
  return [...counted, ...longest.map(([path]) => [path, 0] as const)].slice(0, TOP_FILES).map(([path, calls]) => {
    const lines = linesOf.get(path)
    return { path, calls, ...(lines !== undefined && { lines }) }
  })
}
