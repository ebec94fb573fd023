// A toolkit of @effect/ai for Effect 3, and a tool of the program: one layer has the handlers and the services of both.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent } from '@baton/host'
import { effectTool, fromEffect } from '@baton/tools/effect'
import { Tool, Toolkit } from '@effect/ai'
import * as effect from 'effect'
import { Context, Data, Effect, Layer, Schema } from 'effect'

class OutOfRange extends Data.TaggedError('OutOfRange')<{ readonly city: string }> {}
class Stations extends Context.Tag('weather/Stations')<
  Stations,
  { readonly degrees: (city: string) => Effect.Effect<number, OutOfRange> }
>() {
  static readonly layer = Layer.succeed(Stations, {
    degrees: (city) => (city === 'Lisbon' ? Effect.succeed(18) : Effect.fail(new OutOfRange({ city }))),
  })
}

const GetWeather = Tool.make('GetWeather', {
  description: 'Tells the weather of a city',
  parameters: { city: Schema.String },
  success: Schema.Struct({ degrees: Schema.Int }),
})
const Weather = Toolkit.make(GetWeather)
const handlers = Weather.toLayer(
  Effect.map(Stations, (stations) => ({
    GetWeather: ({ city }) => Effect.map(Effect.orDie(stations.degrees(city)), (degrees) => ({ degrees })),
  })),
)
const hasStation = effectTool({
  name: 'station.find',
  description: 'Tells whether there is a weather station in a city',
  input: Schema.Struct({ city: Schema.NonEmptyString }),
  effect: 'pure',
  execute: ({ city }) => Effect.flatMap(Stations, (stations) => stations.degrees(city)).pipe(Effect.as('yes')),
})

const { tools, close } = fromEffect(effect, {
  layer: Layer.provideMerge(handlers, Stations.layer),
  tools: [hasStation],
  toolkit: Weather,
  byName: { GetWeather: { effect: 'pure' } },
})

const ask = (name: string, input: object) => ({ calls: [{ name, arguments: { ...input } }] })
const model = createScriptedModel({
  steps: [
    ask('station.find', { city: 'Atlantis' }),
    ask('GetWeather', { city: 'Lisbon' }),
    { text: 'It is 18 degrees.' },
  ],
})
const host = createHost({ agent: defineAgent({ name: 'weather', model, tools }) })
const session = await host.session('weather')
for await (const event of session.send('How warm is it?')) {
  if (event.type !== 'call' || !event.call.result) continue
  const { result } = event.call
  console.log(event.call.name, result.type === 'ok' ? result.value : 'message' in result && result.message)
}
await host.stop()
await close()
