// Barge-in: what a person seems to say holds the voice, what they surely say interrupts it, and what they said is sent with what
// was heard of the answer. Speech and typing go the same way.
import type { ClientError, SessionClient } from '@baton/client'
import type { Voice } from '@baton/client/voice'
import { countWords } from '@baton/client/voice'

/** So many words are no cough. */
const SURE_WORDS = 3

export interface Person {
  /** A noise, or words that may change yet. */
  readonly seemsToSay: (text: string) => void
  /** Their words. */
  readonly says: (text: string) => void
}

export function createPerson(client: SessionClient, voice: Voice, onError: (error: ClientError) => void): Person {
  let interrupted = Promise.resolve()
  return {
    seemsToSay: (text) => {
      const isQuiet = voice.getSnapshot().state === 'idle' && client.getSnapshot().activity === 'idle'
      if (isQuiet) return
      if (countWords(text) >= SURE_WORDS) interrupted = voice.interrupt().catch(onError)
      else voice.pause() // goes on by itself where nothing follows within two seconds
    },
    says: (text) => {
      voice.stop()
      const send = (): unknown => client.send(text, { delivery: 'interrupt', heard: voice.heard() })
      interrupted.then(send).catch(onError)
    },
  }
}
