// Plays the conversation to the listening agent, and prints each event with its time.
import type { Environment, Model } from '@baton/host'
import { createHost, createListener } from '@baton/host'
import { CONVERSATION } from './conversation.ts'
import { createCopilot } from './copilot.ts'

export interface TimelineOptions {
  readonly environment: Environment
  readonly model: string | Model
  readonly print: (line: string) => void
}

/** Seconds reserved for the last answer. */
const LAST_S = 8

/**
 * Speech and model text may contain line breaks, which could forge another speaker's line, and terminal control codes.
 */
const UNSHOWN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

function showEscaped(char: string): string {
  return char === '\n' ? ' ' : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}

export async function playTimeline({ environment, model, print }: TimelineOptions): Promise<void> {
  const { clock, timers } = environment
  const beganMs = clock.nowMs()
  const tell = (who: string, what: string): void => {
    const seconds = ((clock.nowMs() - beganMs) / 1000).toFixed(1)
    print(`${seconds.padStart(5)} s  ${who.padEnd(8)} ${what}`.replace(UNSHOWN, showEscaped))
  }
  const waitUntil = (atS: number): Promise<void> =>
    new Promise((resolve) => void timers.start(beganMs + atS * 1000 - clock.nowMs(), resolve))

  const host = createHost({ environment })
  const listener = createListener(host, createCopilot(model))
  listener.on('agent:response', ({ text, interrupted }) =>
    tell('copilot', interrupted ? `${text.trimEnd()} … (interrupted)` : text),
  )
  listener.on('agent:tool_call', ({ name, result }) =>
    tell('copilot', `${name}: ${result?.type === 'ok' ? JSON.stringify(result.value) : result?.message}`),
  )
  listener.on('error', ({ code, message }) => tell('error', `${code}: ${message}`))
  await listener.start()
  for (const moment of CONVERSATION) {
    await waitUntil(moment.atS)
    if ('event' in moment) {
      tell('EVENT', `${moment.event.type}${moment.event.urgency === 'interrupt' ? ' (interrupts)' : ''}`)
      await listener.event(moment.event)
    } else {
      const { speaker, text, fromS } = moment
      tell(speaker, `${text} (since ${fromS.toFixed(1)} s)`)
      await listener.push({ speaker, text })
    }
  }
  await waitUntil((CONVERSATION.at(-1)?.atS ?? 0) + LAST_S)
  await listener.close()
  await host.stop()
}
