// Barge-in: possible speech pauses the voice, certain speech interrupts it, and the person's words are sent together
// with how much of the answer was heard. Speech and typing are handled the same way.
import type { ClientError, SessionClient } from '@baton/client'
import type { Voice } from '@baton/client/voice'
import { countWords } from '@baton/client/voice'

/** This many words cannot be a cough. */
const SURE_WORDS = 3

export interface Person {
  /** Noise, or words that may still change. */
  readonly seemsToSay: (text: string) => void
  /** Final words. */
  readonly says: (text: string) => void
}

export function createPerson(client: SessionClient, voice: Voice, onError: (error: ClientError) => void): Person {
  let interrupted = Promise.resolve()
  return {
    seemsToSay: (text) => {
      const isQuiet = voice.getSnapshot().state === 'idle' && client.getSnapshot().activity === 'idle'
      if (isQuiet) return
      if (countWords(text) >= SURE_WORDS) interrupted = voice.interrupt().catch(onError)
      else voice.pause() // continues by itself if no words follow within two seconds
    },
    says: (text) => {
      voice.stop()
      const send = (): unknown => client.send(text, { delivery: 'interrupt', heard: voice.heard() })
      interrupted.then(send).catch(onError)
    },
  }
}
