// Options of a voice, checked before it speaks: a mistake would only show at the first sentence, or never.
import { checkOptionNames, checkOptionNumber } from '../check-options.ts'
import { createError } from '../client-error.ts'
import type { VoiceClient, VoiceEvents, VoiceOptions } from './voice-api.ts'

/** Every field of `VoiceOptions`; a test compares the two. */
const OPTIONS: readonly string[] = ['speaker', 'confirmMs', 'sentencesMax', 'world']
const EVENTS: Readonly<Record<keyof VoiceEvents, true>> = {
  state: true,
  'speech-start': true,
  'speech-word': true,
  'speech-end': true,
  'speech-dropped': true,
  error: true,
}
/** Maximum delay of a timer, in milliseconds; a longer one would fire at once. */
const TIMER_MS = 2_147_483_647

/** @throws ClientError `invalid_option` */
export function checkVoiceOptions(client: VoiceClient, options: VoiceOptions): void {
  checkOptionNames('createVoice', options, OPTIONS)
  checkMethods(
    'client',
    client,
    ['on', 'getSnapshot', 'interrupt', 'played'],
    'Pass the client that openSession returned.',
  )
  checkMethods('speaker', options.speaker, ['speak', 'pause', 'resume'], 'In a page: speaker: createBrowserSpeaker()')
  if (options.world !== undefined) checkMethods('world', options.world, ['nowMs', 'start'], 'Leave it out.')
  checkOptionNumber('createVoice: confirmMs', options.confirmMs, [0, TIMER_MS])
  checkOptionNumber('createVoice: sentencesMax', options.sentencesMax, [1, Number.MAX_SAFE_INTEGER])
  if (client.speech === false)
    throw createError(
      'invalid_option',
      'createVoice: the session was opened without speech, so the server sends no sentences',
      "Write openSession({ speech: true, … }), or speech: 'only' if the page shows no other text.",
    )
}

/** A listener of an unknown event would never be called. @throws ClientError `invalid_option` */
export function checkEventName(name: string): void {
  if (Object.hasOwn(EVENTS, name)) return
  throw createError(
    'invalid_option',
    `a voice has no event "${name}"`,
    `Its events are ${Object.keys(EVENTS).join(', ')}.`,
  )
}

function checkMethods(name: string, value: unknown, methods: readonly string[], hint: string): void {
  const missing = methods.find(
    (method) => typeof (value as Record<string, unknown> | undefined)?.[method] !== 'function',
  ) // any value has a property or none
  if (missing === undefined) return
  const what = typeof value === 'object' && value !== null ? `which has no method "${missing}"` : `not ${typeof value}`
  throw createError('invalid_option', `createVoice needs a ${name}, ${what}`, hint)
}
