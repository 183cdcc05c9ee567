"""What one can do with the agent's settings.

set_setting           a person's signed setting
record_setting        the agent says that it is in force, or it was refused
wait_for_setting      what became of it
show_settings         what is in force, who set it, when and why
"""
