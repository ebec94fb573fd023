// A toolkit of Effect AI, with its handlers layer as is. Effect 4 here; with Effect 3 it comes from @effect/ai.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent } from '@baton/host'
import { fromEffect } from '@baton/tools/effect'
import * as effect from 'effect4'
import { Effect, Schema } from 'effect4'
import { Tool, Toolkit } from 'effect4/ai'

const GetWeather = Tool.make('GetWeather', {
  description: 'Tells the weather of a city',
  parameters: Schema.Struct({ city: Schema.String }),
  success: Schema.Struct({ degrees: Schema.Int }),
}).annotate(Tool.Readonly, true)
const Weather = Toolkit.make(GetWeather)
const WeatherLive = Weather.toLayer({ GetWeather: ({ city }) => Effect.succeed({ degrees: city.length * 3 }) })

const { tools, close } = fromEffect(effect, { toolkit: Weather, layer: WeatherLive })

const model = createScriptedModel({
  steps: [{ calls: [{ name: 'GetWeather', arguments: { city: 'Lisbon' } }] }, { text: 'It is 18 degrees in Lisbon.' }],
})
const host = createHost({ agent: defineAgent({ name: 'weather', model, tools }) })
const session = await host.session('weather')
for await (const event of session.send('How warm is it in Lisbon?'))
  if (event.type === 'call' && event.call.result?.type === 'ok') console.log(event.call.name, event.call.result.value)
console.log(tools.map(({ name, effect: runs }) => `${name} ${runs}`))
await host.stop()
await close()
