// Expected output of the pages' programs that load a large library or start a server.
export const SAID_BY_LARGE: Readonly<Record<string, readonly string[]>> = {
  'ai-sdk-tools.ts': [
    "readOrder { id: 'A-17', shop: 'shop of ann', status: 'packed' }\nprogress { done: 50 }\nprogress { done: 100, file: 'orders.csv' }\nexportOrders { done: 100, file: 'orders.csv' }\nrefund { id: 'A-17', refunded: 500 }\n",
  ],
  'effect.ts': [
    "the database is open\nOrderNotFound: there is no order A-71\n{ at: '2026-03-01T00:00:00.000Z', readFor: 'ann' }\nthe database is closed\n",
  ],
  'effect-3.ts': ['station.find OutOfRange: {"city":"Atlantis"}\nGetWeather { degrees: 18 }\n'],
  'effect-toolkit.ts': ["GetWeather { degrees: 18 }\n[ 'GetWeather pure' ]\n"],
  'guard.ts': [
    '{"status":200,"text":"Opening hours: 9 to 17."}\n',
    'url_refused the request to http://169.254.169.254, to which the wiki redirects, was not sent: its scheme is not https\n',
    'url_refused the request to https://127.0.0.1:8080 was not sent: its address is this machine\n',
    'url_refused the request to https://[::ffff:a00:1] was not sent: its address is private\n',
    'url_refused the request to https://metadata.google.internal was not sent: its name belongs to a local network\n',
  ],
  'mcp.ts': [
    'get-sum text\nget-tiny-image text, image, text\nThe MCP server "everything" asks: Please provide inputs for the following fields:\ntrigger-elicitation-request text',
  ],
  'openapi.ts': [
    'getWeather pure\nalarm.set once\n{"asked":"GET /cities/Lisbon/weather?units=celsius"}\napi_refused\n{"asked":"POST /alarms"}\n',
  ],
  'mcp-server.ts': ["2026-07-28 [ 'refund' ]\nMay refund be called?", '20 euros for A-17 are on their way.'],
}
