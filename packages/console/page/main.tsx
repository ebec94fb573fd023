// The page: takes the token out of its address, finds its server, and draws the views.
import { render } from 'preact'
import { createApi } from './api.ts'
import { App } from './app.tsx'
import { createStore, startStore } from './store.ts'

const TOKEN = 'baton-console-token'

/** A token after `#token=` moves into the tab's own storage, so that no copied address has it. */
function takeToken(): string | undefined {
  const [, given] = /^#token=(.+)$/.exec(location.hash) ?? []
  if (given !== undefined) {
    sessionStorage.setItem(TOKEN, decodeURIComponent(given))
    history.replaceState(null, '', `${location.pathname}${location.search}#/sessions`)
  }
  return sessionStorage.getItem(TOKEN) ?? undefined
}

const token = takeToken()
const base = new URL('.', location.href).pathname
const store = createStore(createApi({ base, token, fetch: (input, init) => fetch(input, init) }))
const end = startStore(store)
addEventListener('pagehide', end, { once: true })
addEventListener('pageshow', (event) => event.persisted && location.reload())
const place = document.getElementById('page')
if (place) render(<App store={store} />, place)
