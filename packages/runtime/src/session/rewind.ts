// Rewinds a conversation to one of its messages in one input, so that an edit or a retry is one commit.
import type { DecodedRewind, Refused, Rewound } from '@baton/core/internal'
import type { InputOf } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import { createUnknownError, findMessage } from './find-message.ts'
import { submit } from './submit.ts'

type Rewind = DecodedRewind & { readonly inputId: string }

/** @throws BatonError `unknown_input`, `store_failed` */
export async function rewindSession(engine: SessionEngine, rewind: Rewind): Promise<Rewound | Refused> {
  // A repeated rewind may name a message that it removed earlier, or while the message was being looked for.
  const done = await findDone(engine, rewind)
  if (done) return done
  try {
    return await submitRewind(engine, rewind)
  } catch (cause) {
    const meanwhile = await findDone(engine, rewind)
    if (meanwhile) return meanwhile
    throw cause
  }
}

/** @throws BatonError `unknown_input`, `store_failed` */
async function submitRewind(engine: SessionEngine, rewind: Rewind): Promise<Rewound | Refused> {
  const { message, replace, again, interrupt, inputId } = rewind
  const found = await findMessage(engine, message)
  if (replace && found.role === 'assistant') return ONLY_USERS
  const { exchange, asked, output } = found
  const first = found.own[0]?.entry
  // Retrying an answer repeats its whole exchange.
  const isWhole = (again === true && found.role === 'assistant') || found.entry === first
  const fromEntry = found.entry ?? (found.own.at(-1)?.entry ?? 0) + 1
  // A summary has the number of the last entry that it replaced.
  const window = new Map(engine.state().index.map(({ entry, role }) => [entry, role]))
  const isInWindow = found.own.every(({ entry, role }) => window.get(entry) === role)
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
  const outcome = await submit(engine, input)
  // Another rewind has removed the message since it was found.
  if (outcome.type === 'refused' && outcome.code === 'unknown_exchange') throw createUnknownError(message)
  if (outcome.type === 'refused') return outcome
  const turn = replace ? inputId : again ? asked[0] : undefined
  return { ...outcome, ...(turn !== undefined && { turn }) }
}

/** The answer to a rewind that is already in the log; `undefined` if it is not. */
async function findDone(engine: SessionEngine, { replace, again, inputId }: Rewind): Promise<Rewound | undefined> {
  const pos = engine.state().recentInputs.find((one) => one.inputId === inputId)?.pos
  if (pos === undefined) return undefined
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
