// The page: takes the token out of its address, finds its server, and draws the views.
import { render } from 'preact'
import { createApi } from './api.ts'
import { App } from './app.tsx'
import { createStore, keepToken, readToken, startStore } from './store.ts'

/** Takes the token after `#token=` out of the address. Returns whether there was one. */
function takeToken(): boolean {
  const [, given] = /^#token=(.+)$/.exec(location.hash) ?? []
  if (given === undefined) return false
  keepToken(decodeURIComponent(given))
  history.replaceState(null, '', `${location.pathname}${location.search}#/sessions`)
  return true
}

takeToken()
// The address of a server that was started again, in a tab that has the page: only what is after `#` differs.
addEventListener('hashchange', () => void (takeToken() && location.reload()))
const token = readToken()
const base = new URL('.', location.href).pathname
const store = createStore(createApi({ base, token, fetch: (input, init) => fetch(input, init) }))
const end = startStore(store)
addEventListener('pagehide', end, { once: true })
addEventListener('pageshow', (event) => event.persisted && location.reload())
const place = document.getElementById('page')
if (place) render(<App store={store} />, place)
