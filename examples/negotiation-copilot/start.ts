// Prints the timeline. Without a key a script plays the model, and time passes eight times as fast.
import type { Environment } from '@baton/host'
import { createNodeEnvironment } from '@baton/host'
import { chooseModel } from '@baton/models/choose-model'
import { createScriptedCopilot } from './scripted-copilot.ts'
import { playTimeline } from './timeline.ts'

const SCRIPTED_SPEED = Number(process.env['SPEED'] ?? 8)

function atSpeed(speed: number): Environment {
  const real = createNodeEnvironment()
  const beganMs = Date.now()
  const nowMs = (): number => beganMs + (Date.now() - beganMs) * speed
  return {
    ...real,
    clock: { nowMs, monotonicMs: nowMs },
    timers: { start: (delayMs, callback, options) => real.timers.start(delayMs / speed, callback, options) },
  }
}

const { id, reason } = chooseModel({ variables: process.env })
const isScripted = id.startsWith('offline')
const environment = atSpeed(isScripted ? SCRIPTED_SPEED : 1)
console.log(isScripted ? 'a script plays the model' : `${id} answers (${reason})`)
const model = isScripted ? createScriptedCopilot(environment.timers) : id
await playTimeline({ environment, model, print: (line) => console.log(line) })
