// Starts the example on its port and prints the address. With an API key in the environment, a real model answers.
import { createNodeEnvironment } from '@baton/host'
import { chooseModel } from '@baton/models/choose-model'
import { createStation } from './agent.ts'
import { createScriptedStation } from './scripted-station.ts'
import { startVoiceServer } from './server.ts'

const { id, reason } = chooseModel({ variables: process.env })
const environment = createNodeEnvironment()
const isScripted = id.startsWith('offline')
const model = isScripted ? createScriptedStation(environment.timers) : id
const agent = createStation({ model, timers: environment.timers })
const { url } = await startVoiceServer(agent, { environment, port: Number(process.env['PORT'] ?? 8788) })
console.log(`The station is at ${url}; ${isScripted ? 'a script plays the model' : `${id} answers (${reason})`}`)
