// Rewinds a conversation to one of its messages in one input, so that an edit or a retry is one commit.
import type { DecodedRewind, Refused, Rewound } from '@baton/core/internal'
import type { InputOf } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import { findMessage } from './find-message.ts'
import { submitMedia, bringsBytes } from './submit-media.ts'
import { submitAlone } from '../engine.ts'

/** @throws BatonError `unknown_input`, `store_failed` */
export async function rewindSession(
  engine: SessionEngine,
  rewind: DecodedRewind & { readonly inputId: string },
): Promise<Rewound | Refused> {
  const { message, replace, again, interrupt, inputId } = rewind
  // A repeated rewind may name a message that it removed earlier.
  const known = engine.state().recentInputs.find((one) => one.inputId === inputId)
  if (known) return await findRewound(engine, known.pos, rewind)
  const found = await findMessage(engine, message)
  if (replace && found.role === 'assistant') return ONLY_USERS
  const { exchange, asked, output } = found
  const first = found.own[0]?.entry
  // Retrying an answer repeats its whole exchange.
  const isWhole = (again === true && found.role === 'assistant') || found.entry === first
  const fromEntry = found.entry ?? (found.own.at(-1)?.entry ?? 0) + 1
  const isInWindow = engine.state().index.some((entry) => entry.exchange === exchange && entry.role !== 'summary')
  const input: InputOf<'rewind'> = {
    type: 'rewind',
    inputId,
    exchange,
    again: again === true,
    ...(!isWhole && { fromEntry }),
    ...(interrupt && { interrupt }),
    ...(replace && { replace: { parts: replace } }),
    ...((again || replace) && output && { output }),
    ...(!isInWindow && found.index && { index: found.index }),
  }
  const outcome = await (bringsBytes(input) ? submitMedia(engine, input) : submitAlone(engine, input))
  if (outcome.type === 'refused') return outcome
  const turn = replace ? inputId : again ? asked[0] : undefined
  return { ...outcome, ...(turn !== undefined && { turn }) }
}

/** Finds the answer to a rewind that is already in the log. */
async function findRewound(
  engine: SessionEngine,
  pos: number,
  { replace, again, inputId }: DecodedRewind & { readonly inputId: string },
): Promise<Rewound> {
  const accepted = { type: 'accepted', pos } as const
  if (replace) return { ...accepted, turn: inputId }
  if (!again) return accepted
  const record = await engine.stream.recordAt(pos)
  const entered = record?.facts.find((fact) => fact.type === 'inputs-entered')
  const turn = entered?.entries.flatMap(({ inputs }) => inputs)[0]
  return { ...accepted, ...(turn !== undefined && { turn }) }
}

const ONLY_USERS: Refused = {
  type: 'refused',
  code: 'invalid_event',
  message: 'only a user message can be replaced; use `again` for another answer',
}
