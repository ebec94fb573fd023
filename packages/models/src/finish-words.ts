// Words with which servers say why an answer ended. Gateways pass through those of other providers, in any spelling.
import type { FinishReason, JsonValue } from '@baton/core/internal'

/**
 * Words of OpenAI (ChatCompletion.Choice), Mistral (`model_length`), Zhipu (`sensitive`), Anthropic, Gemini, Bedrock,
 * and engines. Keys are lowercase without hyphens and underscores: some send `MAX_TOKENS` or `toolCalls`.
 */
const FINISH: Readonly<Record<string, FinishReason>> = {
  stop: 'end',
  stopped: 'end',
  end: 'end',
  endturn: 'end',
  stopsequence: 'end',
  eos: 'end',
  eostoken: 'end',
  complete: 'end',
  completed: 'end',
  toolcall: 'tool-calls',
  toolcalls: 'tool-calls',
  tooluse: 'tool-calls',
  functioncall: 'tool-calls',
  functioncalls: 'tool-calls',
  length: 'max-tokens',
  maxlength: 'max-tokens',
  maxtokens: 'max-tokens',
  maxoutputtokens: 'max-tokens',
  modellength: 'context-full',
  modelcontextwindowexceeded: 'context-full',
  contentfilter: 'refusal',
  contentfiltered: 'refusal',
  guardrailintervened: 'refusal',
  prohibitedcontent: 'refusal',
  refusal: 'refusal',
  safety: 'refusal',
  sensitive: 'refusal',
}

/** Words that say that an answer has not ended: DashScope sends `"null"`. */
const NOT_YET: ReadonlySet<string> = new Set(['', 'null', 'none', 'undefined'])

/** Returns `undefined` for an unknown word. */
export function readFinishWord(reason: string): FinishReason | undefined {
  const word = bare(reason)
  return Object.hasOwn(FINISH, word) ? FINISH[word] : undefined
}

/** The reason that a field gives; `undefined` if it gives none yet. */
export function readGivenReason(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && !NOT_YET.has(bare(value)) ? value : undefined
}

/** Whether the answer was cut, or withheld. */
export function endsEarly(finish: FinishReason): boolean {
  return finish === 'max-tokens' || finish === 'context-full' || finish === 'refusal'
}

/**
 * The reason that counts of two in a row: some gateways end every stream with one of their own, behind which a cut
 * answer would look complete. If the answer went on in between, the later one counts.
 */
export function pickReason<Reason>(
  before: Reason | undefined,
  now: Reason,
  { read, goesOn }: { readonly read: (reason: Reason) => FinishReason; readonly goesOn: boolean },
): Reason {
  return before !== undefined && !goesOn && endsEarly(read(before)) && !endsEarly(read(now)) ? before : now
}

function bare(reason: string): string {
  return reason
    .toLowerCase()
    .replace(/[\s_-]/g, '')
    .replace(/^finishreason/, '')
}
