// Shared by the four tools: selecting sessions, the time limit of a call, and texts that are safe to show.
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Clock, ErrorCode, ToolContext, Trust } from '@baton/core/internal'
import { BatonError, checkFields, checkKinds } from '@baton/core/internal'
import * as z from 'zod'
import { CallBudget } from '@baton/tools/internal'
import { refused } from '@baton/tools/internal'
import { textHoldsSecret } from '@baton/tools/internal'
import type { SessionProvider } from './session-events.ts'
import { SESSION_PROVIDERS } from './session-events.ts'
import type { SessionHead } from './session-files.ts'
import { SessionFiles } from './session-files.ts'

/** Options of the kit that reads the sessions of coding agents. */
export interface CodingSessionOptions {
  /** The workspace. Only sessions that ran in this folder or below are shown. */
  readonly root: string
  /** `all`: sessions of every folder on this machine. `workspace` by default. */
  readonly scope?: 'workspace' | 'all'
  /** Folder of Claude Code sessions: `$CLAUDE_CONFIG_DIR/projects` or `~/.claude/projects` by default. */
  readonly claudeCode?: string
  /** Folder of Codex sessions: `$CODEX_HOME/sessions` or `~/.codex/sessions` by default. */
  readonly codex?: string
  /** Folder of Gemini CLI sessions: `$GEMINI_CLI_HOME/.gemini` or `~/.gemini` by default. */
  readonly geminiCli?: string
  /** Folder of OpenCode sessions: `$XDG_DATA_HOME/opencode` or `~/.local/share/opencode` by default. */
  readonly opencode?: string
  /** Whether session contents are trusted; `untrusted` by default, because they quote what agents have read. */
  readonly trust?: Trust
  /**
   * Time limit of one call in milliseconds; 20,000 by default. A call that runs out of time says so and returns what it
   * found.
   */
  readonly timeMs?: number
  /** Clock for the time limit; the system clock by default. */
  readonly clock?: Clock
}

export interface SessionKit {
  readonly files: SessionFiles
  readonly trust: Trust
  readonly timeMs: number
  startBudget(context: ToolContext): CallBudget
}

export const SESSION_ERRORS: readonly ErrorCode[] = ['invalid_arguments', 'tool_failed']
/** Maximum sessions that one call may name. */
const NAMED_MAX = 50

export const provider = z.enum(SESSION_PROVIDERS).describe('Which coding agent')
export const sessionId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/, 'write the sessionId as returned by session.list')
  .describe('As returned by session.list')
export const sessionIds = z.array(sessionId).min(1).max(NAMED_MAX)

/** @throws BatonError `invalid_option` */
export function openSessionKit(options: CodingSessionOptions): SessionKit {
  const what = 'codingSessionTools'
  const fields = new Set(['root', 'scope', 'claudeCode', 'codex', 'geminiCli', 'opencode', 'trust', 'timeMs', 'clock'])
  checkFields(options, { what, code: 'invalid_option', fields })
  const kinds = {
    root: 'text',
    scope: ['workspace', 'all'],
    claudeCode: 'text',
    codex: 'text',
    geminiCli: 'text',
    opencode: 'text',
    trust: ['trusted', 'untrusted'],
  } as const
  checkKinds(options, { what, code: 'invalid_option', kinds })
  const { timeMs = 20_000, clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() } } = options
  if (typeof options.root !== 'string' || options.root === '')
    throw new BatonError({ code: 'invalid_option', message: `${what}: root must be the path of the workspace` })
  if (!Number.isSafeInteger(timeMs) || timeMs < 1)
    throw new BatonError({
      code: 'invalid_option',
      message: `${what}: timeMs must be a whole number of at least 1, not ${timeMs}`,
    })
  const home = homedir()
  const files = new SessionFiles({
    root: options.scope === 'all' ? undefined : options.root,
    claudeCode: options.claudeCode ?? join(process.env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'), 'projects'),
    codex: options.codex ?? join(process.env['CODEX_HOME'] || join(home, '.codex'), 'sessions'),
    geminiCli: options.geminiCli ?? join(process.env['GEMINI_CLI_HOME'] || home, '.gemini'),
    opencode: options.opencode ?? join(process.env['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'opencode'),
  })
  const limits = { timeMs, walkedEntriesMax: Number.MAX_SAFE_INTEGER }
  return {
    files,
    trust: options.trust ?? 'untrusted',
    timeMs,
    startBudget: (context) => new CallBudget(clock, limits, context),
  }
}

/**
 * Yields the named sessions, or all of them, newest first.
 * @throws BatonError `tool_failed` if a session does not exist or belongs to another folder
 */
export async function* findSessions(
  kit: SessionKit,
  wanted: { readonly provider?: SessionProvider | undefined; readonly sessionIds?: readonly string[] | undefined },
  budget: CallBudget,
): AsyncGenerator<SessionHead> {
  const named = new Set(wanted.sessionIds)
  const missing = new Set(named)
  for (const file of await kit.files.list(wanted.provider)) {
    if (wanted.sessionIds && !named.has(file.id)) continue
    if (budget.isSpent()) return
    const head = await kit.files.head(file)
    if (!head) continue
    missing.delete(file.id)
    yield head
  }
  const [id] = missing
  if (id !== undefined) throw noSession(id)
}

/**
 * Finds the session with this id, in any provider unless one is named.
 * @throws BatonError `tool_failed` if there is none; `invalid_arguments` if several providers have one
 */
export async function findSession(
  kit: SessionKit,
  { sessionId: id, provider: of }: { readonly sessionId: string; readonly provider?: SessionProvider | undefined },
  budget: CallBudget,
): Promise<SessionHead> {
  const found: SessionHead[] = []
  for await (const head of findSessions(kit, { provider: of, sessionIds: [id] }, budget)) found.push(head)
  const [only, ...others] = found
  if (!only && budget.hasStopped)
    throw refused(
      'tool_failed',
      `the time of ${kit.timeMs} ms ended before session ${id} was found: try again, and name its provider`,
    )
  if (!only) throw noSession(id)
  if (others.length === 0) return only
  const providers = found
    .map((head) => head.provider)
    .toSorted()
    .join(', ')
  throw refused('invalid_arguments', `several agents have a session ${id}: ${providers}; name one of them in provider`)
}

function noSession(id: string): Error {
  return refused('tool_failed', `there is no session ${id} here; session.list returns the existing ones`)
}

/** Replaces a text that contains a secret. */
const WITHHELD = '[withheld: contains what looks like a private key or a token]'

/** Checks each text for secrets before it is shown. */
export async function showText(text: string): Promise<{ readonly text: string; readonly isWithheld: boolean }> {
  return (await textHoldsSecret(text)) ? { text: WITHHELD, isWithheld: true } : { text, isWithheld: false }
}

/** Truncates at a character boundary, with an ellipsis. */
export function shorten(text: string, characters: number): string {
  if (text.length <= characters) return text
  return `${text
    .slice(0, characters - 1)
    .toWellFormed()
    .replace(/\uFFFD$/, '')}…`
}

/** Title of a session, or else the user's first message. */
export async function titleOf({ facts, opening }: SessionHead): Promise<string | undefined> {
  const text = facts.title?.text ?? opening
  return text === undefined ? undefined : shorten((await showText(text)).text.replaceAll(/\s+/g, ' ').trim(), 120)
}
