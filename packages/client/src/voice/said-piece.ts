// One utterance of the browser's synthesis: it ends once, by its own end, by a cut, or by an error, even if the browser
// reports none of them.
import { createError } from '../client-error.ts'
import type { VoiceWorld } from './speaker.ts'
import type { BoundaryEvent, SynthesisLike, UtteranceLike } from './synthesis.ts'

export interface SaidPiece {
  /** True if it was played completely, false if it was cut. Rejects if the browser refuses to speak it. */
  readonly ended: Promise<boolean>
  /** Silences it at once. */
  readonly cut: () => void
}

export interface PieceOptions {
  readonly synthesis: SynthesisLike
  readonly world: VoiceWorld
  /** A word begins this many UTF-16 units after the start. */
  readonly onBoundary: (at: number) => void
}

/** Milliseconds between two polls of the synthesis. It has ended if it is silent for `LOOKS_MAX` polls in a row. */
const LOOK_MS = 500
const LOOKS_MAX = 4

export function sayPiece(utterance: UtteranceLike, { synthesis, world, onBoundary }: PieceOptions): SaidPiece {
  let cut = (): void => {}
  const ended = new Promise<boolean>((resolve, reject) => {
    let hasBegun = false
    let looks = 0
    let isOver = false
    const settle = (then: () => void): void => {
      if (isOver) return
      isOver = true
      stopTimer()
      // Late events must not reach the next utterance.
      Object.assign(utterance, { onstart: null, onend: null, onerror: null, onboundary: null })
      then()
    }
    const fail = (why: string): void => settle(() => reject(createError('handler_failed', `the browser ${why}`)))
    const look = (): void => {
      looks = synthesis.speaking || synthesis.pending ? 0 : looks + 1
      if (looks < LOOKS_MAX) stopTimer = world.start(LOOK_MS, look)
      else if (hasBegun) settle(() => resolve(true))
      else fail('did not begin to speak')
    }
    let stopTimer = world.start(LOOK_MS, look)
    cut = () =>
      settle(() => {
        synthesis.cancel()
        resolve(false)
      })
    utterance.onstart = () => {
      hasBegun = true
    }
    utterance.onend = () => settle(() => resolve(true))
    utterance.onerror = ({ error }: { readonly error?: string }) => fail(`did not speak: ${error ?? 'no reason given'}`)
    utterance.onboundary = ({ name, charIndex }: BoundaryEvent) => {
      hasBegun = true
      if (name !== 'sentence') onBoundary(charIndex)
    }
    // A synthesis that another page paused stays silent.
    synthesis.resume()
    synthesis.speak(utterance)
  })
  return { ended, cut }
}
