// An agent on Gemini in a Google Cloud project, with a token that is renewed shortly before it expires.
import { defineAgent } from '@baton/core'
import { createNodeEnvironment } from '@baton/host'
import { createGeminiModel } from '@baton/models/gemini'
import { createUndiciTransport } from '@baton/models/transport/undici'
import { GoogleAuth } from 'google-auth-library'

const auth = new GoogleAuth({ scopes: 'https://www.googleapis.com/auth/cloud-platform' })
const accessToken = async () => (await auth.getAccessToken()) ?? ''
const { transport, clock } = createNodeEnvironment(createUndiciTransport({ variables: process.env }))
const model = createGeminiModel({
  model: 'gemini-2.5-flash',
  access: { type: 'vertex', project: 'my-project', location: 'europe-west4', accessToken },
  transport,
  clock,
})
export default defineAgent({ name: 'helper', model })
