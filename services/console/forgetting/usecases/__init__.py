"""forget_subject   trash, history, answers, messages, proposals and figures that hold a text; and where else it stands"""
