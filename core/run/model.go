package run

import (
	"cmp"
	"errors"

	"bellhop/core"
)

// equip gives the bot the model of the run: the one that it began with, else
// the one that is set for the thread, else the bot's own.
func (r *Runner) equip(bot core.Bot, run *core.Run, th core.Thread) core.Bot {
	run.Model = cmp.Or(run.Model, th.Model, bot.Model)
	if run.Model == bot.Model {
		return bot
	}
	bot.Model, bot.Window, bot.Vision = run.Model, 0, false
	if r.o.Facts != nil {
		bot.Window, bot.Vision = r.o.Facts(run.Model)
	}
	return bot
}

// provider is the endpoint of the run's model, and the model's name there.
func (t *turn) provider() (core.Provider, string, error) {
	p, name, err := t.o.Provider(t.run.Model)
	if user, told := errors.AsType[*core.UserError](err); told && t.run.Model == t.view.Thread.Model {
		err = &core.UserError{Text: user.Text + " " + t.command("model") + " reset takes back the model that was set here."}
	}
	return p, name, err
}
