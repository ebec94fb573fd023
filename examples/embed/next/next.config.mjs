// Node loads Baton itself: its stores and its log cannot be bundled.
export default { serverExternalPackages: ['@baton/host', '@baton/server'] }
