// Starts telegram-test-api on the port of the first argument. It keeps messages longer than any journey takes.
const { createRequire } = require('node:module')

const TelegramServer = createRequire(`${process.env.BELLHOP_PEERS}/`)('telegram-test-api')

new TelegramServer({ port: Number(process.argv[2]), host: '127.0.0.1', storeTimeout: 3600 }).start()
