// Starts telegram-test-api on the port of the first argument. It keeps messages longer than any journey takes.
const { createRequire } = require('node:module')

const TelegramServer = createRequire(`${process.env.BELLHOP_PEERS}/`)('telegram-test-api')

class Server extends TelegramServer {
  // On Telegram an edit that names no keyboard takes away the one that there was; the peer leaves it there.
  editMessageText(message) {
    super.editMessageText({ reply_markup: null, ...message })
  }
}

new Server({ port: Number(process.argv[2]), host: '127.0.0.1', storeTimeout: 3600 }).start()
